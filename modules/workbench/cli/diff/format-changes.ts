/** Prints differences by entry: each as a sentence with both places, and long texts as a diff. */

import type { Paint } from '../../../../base/paint.ts';
import { formatDiff } from '../../../../cli/output/diff.ts';
import { visible } from '../../../../cli/output/print.ts';
import type { Place } from '../../../../schemas/generated/types.ts';
import type { ConfigChange } from './change.ts';

export function formatChanges(changes: readonly ConfigChange[], paint: Paint): string[] {
  const lines: string[] = [];
  let last = '';
  for (const change of changes) {
    const entry = `${change.subject} ${change.name}`.trim();
    if (entry !== last) lines.push(...(last === '' ? [] : ['']), paint('bold', visible(entry)) + places(change, paint));
    last = entry;
    lines.push(`  ${visible(change.sentence)}`, ...texts(change, paint));
  }
  return lines;
}

function places({ old_at, new_at }: ConfigChange, paint: Paint): string {
  const both = [old_at, new_at].filter((at): at is Place => at !== null).map(({ file, line }) => `${file}:${line}`);
  return both.length === 0 ? '' : ` ${paint('dim', `(${[...new Set(both)].map(visible).join(' → ')})`)}`;
}

function texts({ field, old, new: now }: ConfigChange, paint: Paint): string[] {
  if (field !== 'prompt' || old === null || now === null) return [];
  const clean = (text: string): string => text.split('\n').map(visible).join('\n');
  return formatDiff(clean(old), clean(now), paint).map((line) => `    ${line}`);
}
