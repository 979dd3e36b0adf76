/** A number that loses digits. */
import type { NodePath, Problem } from '../diagnostics/problem.ts';
import { isSecretName } from '../text/secret-names.ts';
import type { ListedRule } from './support/listed-rule.ts';

export const lostDigits = {
  id: 'lost-digits',
  /** @param written text of the number in the file; for an alias, the number is checked at its anchor */
  check(value: number, written: string, path: NodePath): readonly Problem[] {
    if (written === String(value) || !/^[-+.\d]/.test(written)) return [];
    const at = { rule: 'lost-digits', path, at: 'value' } as const;
    // The message must not repeat a secret.
    if (isSecretName(String(path.at(-1)))) {
      const message = 'this is read as a number and loses digits';
      return [{ ...at, message, hint: 'write it in quotes', sensitive: true }];
    }
    return [{ ...at, message: `\`${written}\` is read as the number ${value}`, hint: `write '${written}' in quotes` }];
  },
} as const satisfies ListedRule;
