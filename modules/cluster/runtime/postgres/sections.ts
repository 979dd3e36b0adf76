/**
 * Makes a group of changes within its transaction. The changes of a group are concurrent, because none has been
 * acknowledged. So those of events are made first, as one unit of work, and `take_work` sees them; the others follow in
 * their order.
 */
import type { EncodedChange, LargeTexts } from '../../../../runtime/store/encode.ts';
import { decodeChange } from '../../../../runtime/store/encode.ts';
import type { MutationKind, MutationResults } from '../../../../runtime/store/mutations.ts';
import type { DirectChange, UnitChange, UnitKind } from '../../../../runtime/store/unit/apply.ts';
import { applyToUnit, isUnitChange } from '../../../../runtime/store/unit/apply.ts';
import { WorkUnit } from '../../../../runtime/store/unit/unit.ts';
import type { DirectChanges } from './direct-changes.ts';
import { loadUnit } from './load-unit.ts';
import { storeUnit } from './store-unit.ts';
import type { Scope } from './transact.ts';

type Result = MutationResults[MutationKind];

/** A change with its index in the group. */
interface Part {
  readonly index: number;
  readonly change: UnitChange;
  readonly texts: LargeTexts;
}

type Section =
  | { readonly kind: 'unit'; readonly parts: Part[] }
  | { readonly kind: 'direct'; readonly index: number; readonly change: DirectChange };

/** Kinds that share a unit. Jobs do not share one with changes that end runs: what these have unblocked is stored before. */
const UNIT_OF: Readonly<Record<UnitKind, 'events' | 'firing'>> = {
  accept: 'events',
  join_group: 'events',
  advance: 'events',
  record_attempt: 'events',
  give_up: 'events',
  answer_approval: 'events',
  tell_approval: 'events',
  resend: 'events',
  put_guard: 'events',
  pause_route: 'events',
  begin_run: 'events',
  tick_job: 'firing',
  fire_job: 'firing',
};

/** Makes the changes; resolves to their results, in order, once their statements have been sent. */
export async function makeChanges(
  scope: Scope,
  direct: DirectChanges,
  encoded: readonly EncodedChange[],
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const section of sectionsOf(encoded)) {
    if (section.kind === 'direct') {
      const { index, change } = section;
      const make = direct[change.kind] as (scope: Scope, change: DirectChange) => Promise<Result>;
      results[index] = await make(scope, change);
      continue;
    }
    const changes = section.parts.map(({ change }) => change);
    const unit = new WorkUnit(await loadUnit(scope.db, changes));
    for (const { index, change, texts } of section.parts) results[index] = applyToUnit(unit, change, texts);
    storeUnit(scope, unit);
  }
  return results;
}

function sectionsOf(encoded: readonly EncodedChange[]): readonly Section[] {
  const events: Part[] = [];
  const others: Section[] = [];
  for (const [index, one] of encoded.entries()) {
    const [, body, answer] = one;
    const change = decodeChange(one);
    if (!isUnitChange(change)) {
      others.push({ kind: 'direct', index, change });
      continue;
    }
    const part = { index, change, texts: { body, answer } };
    const last = others.at(-1);
    if (UNIT_OF[change.kind] === 'events') events.push(part);
    else if (last?.kind === 'unit') last.parts.push(part);
    else others.push({ kind: 'unit', parts: [part] });
  }
  return events.length === 0 ? others : [{ kind: 'unit', parts: events }, ...others];
}
