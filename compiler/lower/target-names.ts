/** Maps names and aliases of targets to canonical names. */
import type { Lowered, NodePath, Problem } from '../diagnostics/problem.ts';

/** Reports aliases that already name another target, at `[target, 'aliases', index]`. */
export function lowerTargetNames(
  files: Readonly<Record<string, { readonly aliases?: readonly string[] }>>,
): Lowered<Readonly<Record<string, string>>> {
  const names = new Map(Object.keys(files).map((name) => [name, name]));
  const problems: Problem[] = [];
  for (const [target, { aliases = [] }] of Object.entries(files)) {
    for (const [index, alias] of aliases.entries()) {
      const owner = names.get(alias);
      const path: NodePath = [target, 'aliases', index];
      if (owner === undefined) names.set(alias, target);
      else if (owner !== target) {
        const message = `\`${alias}\` already names the target \`${owner}\``;
        problems.push({ rule: 'duplicate-definition', path, at: 'value', message });
      }
    }
  }
  return { plan: Object.fromEntries(names), problems };
}
