/** The changes of ../mutations.ts over the memory store's tables: each takes effect at once. */
import { joinGroup } from '../../coalesce/group.ts';
import type { JobMutation } from '../job-mutations.ts';
import type { Accept, Advance, Cleanup, Coalesce, MutationHandlers, MutationResults, Release } from '../mutations.ts';
import { isFailure } from '../mutations.ts';
import { canAdvance, isFinal } from '../states.ts';
import type { MemoryTables } from './tables.ts';
import { insert, isFree, key, remove, retire, takeClaim } from './tables.ts';

export function createMemoryHandlers(tables: MemoryTables): Omit<MutationHandlers, JobMutation['kind']> {
  return {
    accept: (m) => accept(tables, m),
    coalesce: (m) => coalesce(tables, m),
    release: (m) => release(tables, m),
    advance: (m) => advance(tables, m),
    take_inbox({ refs }) {
      for (const ref of refs) tables.inbox.delete(ref);
      return null;
    },
    expire_claims: ({ now, after, limit }) => tables.claims.expire(now, after, limit),
    cleanup: (m) => cleanup(tables, m),
  };
}

function accept(tables: MemoryTables, m: Accept): MutationResults['accept'] {
  const { claim, claiming, now, answer } = m;
  const isNew = claiming === 'now' ? takeClaim(tables, claim, now) : isFree(tables, claim, now);
  if (!isNew) return { kind: 'duplicate' };
  const kept = insert(tables, m, m.state, now);
  if (answer !== undefined) Object.assign(kept, { answer, answered_at: now });
  if (m.inbox) tables.inbox.add(kept.ref);
  return { kind: 'stored', ref: kept.ref };
}

function coalesce(tables: MemoryTables, m: Coalesce): MutationResults['coalesce'] {
  if (!takeClaim(tables, m.claim, m.now)) return { kind: 'duplicate' };
  const { id, profile, route } = m.dispatch;
  const at = key(profile, route ?? '', m.key);
  const before = tables.groups.get(at) ?? null;
  const group = joinGroup(before, m.now, m.limits);
  const { superseded, due_at, max_wait_ms } = group;
  const { ref } = insert(tables, { ...m, dispatch: { ...m.dispatch, superseded } }, 'pending', null);
  tables.groups.set(at, { ...group, profile, route: route ?? '', key: m.key, ref });
  if (before !== null) {
    const reason = `superseded by ${id}`;
    advance(tables, { kind: 'advance', ref: before.ref, to: 'skipped', at: m.now, reason });
  }
  return { kind: 'stored', ref, superseded, due_at, max_wait_ms };
}

function release(tables: MemoryTables, { profile, route, key: entity, ref, now }: Release): boolean {
  const at = key(profile, route, entity);
  if (tables.groups.get(at)?.ref !== ref) return false;
  tables.groups.delete(at);
  const kept = tables.kept.get(ref);
  if (kept !== undefined) kept.ready_at = now;
  return true;
}

function advance(tables: MemoryTables, m: Advance): boolean {
  const kept = tables.kept.get(m.ref);
  if (kept === undefined || !canAdvance(kept.state, m)) return false;
  kept.tally[kept.state]--;
  kept.tally[m.to]++;
  kept.state = m.to;
  kept.reason = m.reason ?? null;
  if (m.steps !== undefined) kept.steps = [...kept.steps, ...m.steps];
  if (m.ready_at !== undefined) kept.ready_at = m.ready_at;
  if (m.to === 'running' || m.started_at !== undefined) kept.started_at = m.started_at ?? m.at;
  if (m.answer !== undefined) {
    kept.answer = m.answer;
    kept.answered_at = m.at;
  }
  if (m.claim !== undefined) tables.claims.set(m.claim);
  if (isFailure(m)) tables.failure = { id: kept.id, route: kept.route, at: m.at, reason: m.reason };
  if (isFinal(m.to)) {
    kept.finished_at = m.at;
    retire(tables, kept);
  }
  return true;
}

function cleanup(tables: MemoryTables, { before, after, limit }: Cleanup): MutationResults['cleanup'] {
  const slice = [...tables.kept.values()].filter(({ ref }) => ref > after && ref < tables.last).slice(0, limit);
  const old = slice.filter(({ state, finished_at }) => isFinal(state) && (finished_at ?? before) < before);
  for (const kept of old) remove(tables, kept);
  const last = slice.at(-1);
  const more = last !== undefined && slice.length === limit && last.accepted_at < before;
  return { removed: old.length, next: more ? last.ref : null };
}
