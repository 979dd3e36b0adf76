/** Rules about reading files. */
import { targetNamed } from '../config/route-keys.ts';
import { targetEntries } from '../config/target-entries.ts';
import { rule } from './support/rule.ts';

export const duplicateDefinition = rule('duplicate-definition', {
  profile({ config, scope }, report) {
    const first = new Map<string, string>();
    for (const [name] of targetEntries(config)) {
      const target = targetNamed(scope.table.target_names, name) ?? name;
      const other = first.get(target);
      if (other === undefined) {
        first.set(target, name);
        continue;
      }
      const message = `\`${name}\` and \`${other}\` are the same target`;
      const related = [{ path: ['platforms', other], message: 'the target is first defined here' }];
      report({ path: ['platforms', name], at: 'key', message, related });
    }
  },
});
