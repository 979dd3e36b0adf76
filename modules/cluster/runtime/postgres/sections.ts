/**
 * Makes a group of changes within its transaction. The changes of a group are concurrent, because none has been
 * acknowledged. So those of events are made first, as one unit of work, and `take_work` sees them; the others follow in
 * their order.
 */
import type { EncodedChange, Headed, LargeTexts } from '../../../../runtime/store/encode.ts';
import { decodeChange } from '../../../../runtime/store/encode.ts';
import type { Mutation, MutationKind, MutationResults } from '../../../../runtime/store/mutations.ts';
import { accept, join } from './accept.ts';
import { advance, recordAttempt } from './advance.ts';
import type { DirectChanges } from './direct-changes.ts';
import { fire, tick } from './firing.ts';
import type { UnitChange } from './load-unit.ts';
import { loadUnit } from './load-unit.ts';
import type { Scope } from './scope.ts';
import { storeUnit } from './store-unit.ts';
import { WorkUnit } from './unit.ts';

type Result = MutationResults[MutationKind];

interface Change {
  /** Index in the group. */
  readonly index: number;
  readonly change: Headed<Mutation>;
  readonly texts: LargeTexts;
}

/** Kinds that share a unit. Jobs do not share one with changes that end runs, because the unit looks up once which runs are over. */
const UNIT_OF: Partial<Record<MutationKind, 'events' | 'firing'>> = {
  ...{ accept: 'events', join_group: 'events', advance: 'events', record_attempt: 'events' },
  ...{ tick_job: 'firing', fire_job: 'firing' },
};

/** Makes the changes; resolves to their results, in order, once their statements have been sent. */
export async function makeChanges(
  scope: Scope,
  direct: DirectChanges,
  encoded: readonly EncodedChange[],
): Promise<readonly Result[]> {
  const results: Result[] = [];
  for (const section of sectionsOf(encoded)) {
    const made = await makeSection(scope, direct, section);
    for (const [at, { index }] of section.entries()) results[index] = made[at] as Result;
  }
  return results;
}

function sectionsOf(encoded: readonly EncodedChange[]): readonly (readonly Change[])[] {
  const events: Change[] = [];
  const others: Change[][] = [];
  let isFiring = false;
  for (const [index, one] of encoded.entries()) {
    const [, body, answer] = one;
    const made = { index, change: decodeChange(one), texts: { body, answer } };
    const unit = UNIT_OF[made.change.kind];
    if (unit === 'events') events.push(made);
    else if (unit === 'firing' && isFiring) others.at(-1)?.push(made);
    else others.push([made]);
    if (unit !== 'events') isFiring = unit === 'firing';
  }
  return events.length === 0 ? others : [events, ...others];
}

async function makeSection(
  scope: Scope,
  direct: DirectChanges,
  section: readonly Change[],
): Promise<readonly Result[]> {
  const [first] = section;
  if (first === undefined) return [];
  if (UNIT_OF[first.change.kind] === undefined) {
    const make = direct[first.change.kind as keyof DirectChanges] as (scope: Scope, m: unknown) => Promise<Result>;
    return [await make(scope, first.change)];
  }
  const changes = section as readonly { readonly change: UnitChange; readonly texts: LargeTexts }[];
  const unit = new WorkUnit(
    scope.node,
    await loadUnit(
      scope.db,
      changes.map(({ change }) => change),
    ),
  );
  const results = changes.map(({ change, texts }) => makeInUnit(unit, change, texts));
  storeUnit(scope, unit);
  return results;
}

function makeInUnit(unit: WorkUnit, change: UnitChange, texts: LargeTexts): Result {
  switch (change.kind) {
    case 'accept':
      return accept(unit, change, texts);
    case 'join_group':
      return join(unit, change, texts);
    case 'advance':
      return advance(unit, change, texts);
    case 'record_attempt':
      return recordAttempt(unit, change);
    case 'tick_job':
      return tick(unit, change, texts);
    case 'fire_job':
      return fire(unit, change, texts);
  }
}
