/** What names a row: group keys are JSON for the reason that ../claim-key.ts gives, steps are numbered by dispatch. */
import type { Ref } from '../mutations.ts';

export const groupKey = (profile: string, route: string, key: string): string => JSON.stringify([profile, route, key]);

export function parseGroupKey(text: string): { profile: string; route: string; key: string } {
  const [profile, route, key] = JSON.parse(text) as [string, string, string];
  return { profile, route, key };
}

/** Numbers for the steps of one dispatch: more than any can have. */
const STEPS = 2 ** 20;

/** Where the `n`th step of a dispatch is stored, `n` from 1. */
export const stepId = (ref: Ref, n: number): number => ref * STEPS + n;

/** The first and the last id that a step of the dispatch can have. */
export const stepIds = (ref: Ref): readonly [first: number, last: number] => [ref * STEPS, ref * STEPS + STEPS - 1];
