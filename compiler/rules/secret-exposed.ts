/** A literal secret that other users of the machine can read. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const secretExposed = {
  id: 'secret-exposed',
  /** Checks the permissions of a file with a literal secret. (source/load-env.ts rejects `.env` files that others can write.) */
  check({ name, mode }: { readonly name: string; readonly mode: number }, path: NodePath): readonly Problem[] {
    if (!isReadByOthers(mode)) return [];
    const message = `a literal secret in a file that others on this machine can read (mode ${mode.toString(8)})`;
    const hint = `\`chmod 600 ${name}\`, or keep the secret out of it: \`env:NAME\` or \`file:path\``;
    return [{ rule: 'secret-exposed', path, at: 'value', message, hint, sensitive: true }];
  },
} as const satisfies ListedRule;

/** Read permission for group and others. */
const OTHERS_READ = 0o044;

export const isReadByOthers = (mode: number): boolean => (mode & OTHERS_READ) !== 0;
