/** The figures of each minute, added and summed. */
import type { FigureSum } from '../figures.ts';
import { addedFigures, FIGURE_SUMS, FIGURES, forgottenBefore } from '../figures.ts';
import type { QueryHandlers } from '../queries.ts';
import type { DirectHandlers } from '../unit/apply.ts';
import type { Connection } from './driver.ts';

export function createAddFigures(db: Connection): DirectHandlers['add_figures'] {
  const add = db.change(
    `INSERT INTO figure (minute, ${FIGURES.join(', ')}) VALUES (?, ${FIGURES.map(() => '?').join(', ')}) ` +
      `ON CONFLICT (minute) DO UPDATE SET ${addedFigures('max')}`,
  );
  const forget = db.change('DELETE FROM figure WHERE minute < ?');
  return ({ minute, figures }) => {
    add(minute, ...FIGURES.map((name) => figures[name]));
    forget(forgottenBefore(minute));
    return null;
  };
}

export function createFigureSums(db: Connection): QueryHandlers['figures'] {
  const sums = db.query<readonly number[]>(
    `SELECT minute / ?1 * ?1 AS slot, ${FIGURE_SUMS.join(', ')} FROM figure WHERE minute >= ?2 GROUP BY 1 ORDER BY 1`,
  );
  const names = ['slot', ...FIGURES];
  return ({ since, slot_ms }) =>
    sums
      .all(slot_ms, since)
      .map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])) as unknown as FigureSum);
}
