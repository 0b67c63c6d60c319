/**
 * How much of a large product of cases a test goes through: all of it under `npm run test:full` (EVOLVER_TEST_FULL=1), and
 * else a part in which each value still occurs.
 */

const isFull = process.env["EVOLVER_TEST_FULL"] === "1";

/** The first under `npm run test:full`, else the second. */
export const inFull = <T>(all: T, some: T): T => (isFull ? all : some);
