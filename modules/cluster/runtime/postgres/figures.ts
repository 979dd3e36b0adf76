/** The figures of each minute, added over all gateways, and summed. */
import type { AddFigures, FigureSum } from '../../../../runtime/store/figures.ts';
import { addedFigures, FIGURE_SUMS, FIGURES, forgottenBefore } from '../../../../runtime/store/figures.ts';
import type { Query } from '../../../../runtime/store/queries.ts';
import type { AskSnapshot } from './snapshot.ts';
import type { Scope } from './transact.ts';

const ADD =
  `INSERT INTO figure (minute, ${FIGURES.join(', ')}) VALUES ($1, ${FIGURES.map((_, at) => `$${at + 2}`).join(', ')}) ` +
  `ON CONFLICT (minute) DO UPDATE SET ${addedFigures('greatest')}`;
const SUMS =
  `SELECT slot, ${FIGURES.map((name) => `${name}::bigint`).join(', ')} FROM (SELECT minute / $1::bigint * $1::bigint AS slot, ` +
  `${FIGURE_SUMS.join(', ')} FROM figure WHERE minute >= $2 GROUP BY 1) sums ORDER BY slot`;

export async function addFigures({ db }: Scope, { minute, figures }: AddFigures): Promise<null> {
  await db.change(ADD, [minute, ...FIGURES.map((name) => figures[name])]);
  await db.change('DELETE FROM figure WHERE minute < $1', [forgottenBefore(minute)]);
  return null;
}

export async function sumFigures(
  ask: AskSnapshot,
  { since, slot_ms }: Extract<Query, { kind: 'figures' }>,
): Promise<readonly FigureSum[]> {
  return (await ask<[FigureSum[]]>([SUMS, slot_ms, since]))[0];
}
