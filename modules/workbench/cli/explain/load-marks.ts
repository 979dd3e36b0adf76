/** The marks of untrusted values, for explanations of marked prompts. */
import { loadMarks as loadMarksOf } from '../../../../runtime/module.ts';
import type { Marks } from '../../../../runtime/table/link-template.ts';
import type { RoutePlan } from '../../../../schemas/generated/types.ts';
import { payloads } from '../../../payloads/module.ts';

/** Null: none of the routes has marked values. */
export const loadMarks = (plans: readonly RoutePlan[]): Promise<Marks | null> =>
  loadMarksOf(payloads.runtime === null ? [] : [payloads.runtime], plans);
