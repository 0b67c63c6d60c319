/** What somebody meant who wrote a name that there is not. */

/** Of a name's length, how much may differ. */
const MOST_DIFFERENT = 0.4;

/**
 * The name that takes the fewest changes of a letter to come to, or null where none is near. Case, and what stands between
 * words, does not count: "K11-half_tiles" is "k11 half tiles".
 */
export function nearestName(given: string, names: readonly string[]): string | null {
  let best: string | null = null;
  let least = Infinity;
  for (const name of names) {
    const changes = changesBetween(plain(given), plain(name));
    if (changes >= least || changes > MOST_DIFFERENT * plain(name).length) continue;
    [best, least] = [name, changes];
  }
  return best;
}

/** The start of an error's hint, 'did you mean "k11 half tiles"? '; empty where no name is near. */
export function didYouMean(given: string, names: readonly string[]): string {
  const nearest = nearestName(given, names);
  return nearest === null ? "" : `did you mean "${nearest}"? `;
}

const plain = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** How many letters to put in, take out or replace: the distance of Levenshtein, row by row. */
function changesBetween(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...a].entries()) {
    const row = [i + 1];
    for (const [j, other] of [...b].entries())
      row.push(
        Math.min(
          (row[j] as number) + 1,
          (above[j + 1] as number) + 1,
          (above[j] as number) + (letter === other ? 0 : 1),
        ),
      );
    above = row;
  }
  return above.at(-1) as number;
}
