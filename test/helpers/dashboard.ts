/** The queries of docs/grafana-dashboard.json. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

export interface Panel {
  readonly title: string;
  readonly exprs: readonly string[];
}

/** Panels with queries, in their order. */
export function dashboard(): readonly Panel[] {
  const text = readFileSync(join(ROOT, 'docs', 'grafana-dashboard.json'), 'utf8');
  const { panels } = JSON.parse(text) as { panels: { title: string; targets?: { expr: string }[] }[] };
  return panels.flatMap(({ title, targets }) =>
    targets === undefined ? [] : [{ title, exprs: targets.map(({ expr }) => expr) }],
  );
}
