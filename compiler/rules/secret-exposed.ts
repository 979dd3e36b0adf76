/** A literal secret that others on the machine can read. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const secretExposed = {
  id: 'secret-exposed',
  group: 'secrets',
  severity: 'warning',
  title: 'A file that other users may read holds a literal secret.',
  why: 'Every account on the machine could sign requests or use the credentials.',
  /** A literal secret. source/load-env.ts does not read an env file that others may write. @param mode of its file */
  check({ name, mode }: { readonly name: string; readonly mode: number }, path: NodePath): readonly Problem[] {
    if (!isReadByOthers(mode)) return [];
    const message = `a literal secret in a file that others on this machine can read (mode ${mode.toString(8)})`;
    const hint = `\`chmod 600 ${name}\`, or keep the secret out of it: \`env:NAME\` or \`file:path\``;
    return [{ rule: secretExposed, path, at: 'value', message, hint, sensitive: true }];
  },
} as const satisfies ListedRule;

/** Read permission of the group and of everybody else. */
const OTHERS_READ = 0o044;

export const isReadByOthers = (mode: number): boolean => (mode & OTHERS_READ) !== 0;
