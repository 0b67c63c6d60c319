/** What the guide adds to a rung: what one hears about the step, and questions about it with answers. */

export interface Lesson {
  /** What `found` of the rung answers, in a sentence or two. */
  readonly folklore: string;
  readonly questions: readonly Question[];
}

interface Question {
  readonly question: string;
  readonly answer: string;
}
