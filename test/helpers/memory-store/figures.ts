/** Figures of traffic by the minute, in the store in memory. */

import type { Figures } from '../../../runtime/store/figures.ts';
import { FIGURE_COUNTS, FIGURES } from '../../../runtime/store/figures.ts';
import type { QueryHandlers } from '../../../runtime/store/queries.ts';
import type { MutationHandlers } from './handlers.ts';
import type { MemoryTables } from './tables.ts';

const WEEK_MS = 604_800_000;

export const figureHandlers = ({ figures: kept }: MemoryTables): Pick<MutationHandlers, 'add_figures'> => ({
  add_figures({ minute, figures }) {
    kept.set(minute, together([kept.get(minute), figures]));
    for (const at of kept.keys()) if (at < minute - WEEK_MS) kept.delete(at);
    return null;
  },
});

export const figureQuery =
  ({ figures }: MemoryTables): QueryHandlers['figures'] =>
  ({ since, slot_ms }) => {
    const asked = [...figures].filter(([minute]) => minute >= since);
    const slots = new Set(asked.map(([minute]) => minute - (minute % slot_ms)));
    const of = (slot: number): readonly Figures[] =>
      asked.filter(([minute]) => minute - (minute % slot_ms) === slot).map(([, found]) => found);
    return [...slots].sort((a, b) => a - b).map((slot) => ({ slot, ...together(of(slot)) }));
  };

function together(all: readonly (Figures | undefined)[]): Figures {
  const isCount = (name: string): boolean => (FIGURE_COUNTS as readonly string[]).includes(name);
  const of = (name: keyof Figures): readonly number[] => all.map((figures) => figures?.[name] ?? 0);
  const joined = FIGURES.map((name) => [
    name,
    isCount(name) ? of(name).reduce((sum, value) => sum + value, 0) : Math.max(...of(name)),
  ]);
  return Object.fromEntries(joined) as Figures;
}
