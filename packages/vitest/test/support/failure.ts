/** For tests of expectations that fail. */

interface Failure {
  readonly name: string;
  readonly message: string;
  readonly stack: string;
}

/** What an expectation throws. */
export async function failureOf(expectation: () => Promise<unknown>): Promise<Failure> {
  try {
    await expectation();
  } catch (error) {
    const { name, message, stack = "" } = error as Error;
    return { name, message, stack };
  }
  throw new Error("the expectation passed");
}
