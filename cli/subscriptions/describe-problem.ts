/** A problem of a subscription in one line: its file is rarely edited by hand, so the place is named by its keys. */
import type { Problem } from '../../compiler/diagnostics/problem.ts';

export function describeProblem({ path, message, rule, hint }: Problem): string {
  const [, ...inside] = path;
  const place = inside.length === 0 ? '' : `${inside.join('.')}: `;
  return `${place}${message} (${rule})${hint === undefined ? '' : `; ${hint}`}`;
}
