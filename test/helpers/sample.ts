/**
 * A complete `npm test` tries a sample of long lists of cases and of random cases. `npm run test:all` tries all, and so does
 * `npm test -- <fragment>`, because who works on one part wants all of its cases.
 */

/** Set by `scripts/test.ts`. */
export const IS_SAMPLE = process.env.HOOKWRIGHT_SAMPLE_TESTS === '1';

/** Returns one in `every` cases of a sample. */
export const sampleOf = <Case>(cases: readonly Case[], every = 5): readonly Case[] =>
  IS_SAMPLE ? cases.filter((_case, at) => at % every === 0) : cases;

/** Returns the number of random cases: a tenth in a sample. */
export const runsOf = (all: number): number => (IS_SAMPLE ? Math.ceil(all / 10) : all);
