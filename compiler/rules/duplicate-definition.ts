/** One name, two definitions. */
import type { Problem } from '../diagnostics/problem.ts';
import { targetNamed } from '../lower/delivery.ts';
import { targetEntries } from '../lower/profile.ts';
import type { Rule } from './support/rule.ts';

export const duplicateDefinition: Rule = {
  id: 'duplicate-definition',
  severity: 'error',
  title: 'Two places define the same route, job, target, source or setting.',
  why: 'Which of them would count must not depend on the order of files.',
  checkProfile({ config, scope }) {
    const first = new Map<string, string>();
    return targetEntries(config).flatMap(([name]): readonly Problem[] => {
      const target = targetNamed(scope.table.target_names, name) ?? name;
      const other = first.get(target);
      if (other === undefined) first.set(target, name);
      if (other === undefined) return [];
      const message = `\`${name}\` and \`${other}\` are one target`;
      const related = [{ path: ['platforms', other], message: 'it is first defined here' }];
      return [{ rule: this.id, path: ['platforms', name], at: 'key', message, related }];
    });
  },
};
