/** `allow` names a field that agents do not fill, or a value that its target does not take. */
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { didYouMean, oneOf } from '../../../../compiler/text/suggest.ts';
import type { JobView, Reporter, RouteView } from '../../../../compiler/views/views.ts';
import { outputsOf } from '../outputs-of.ts';

export const outputField = rule('output-field', { route: check, job: check });

function check(view: RouteView | JobView, report: Reporter): void {
  for (const { name, config, fields } of outputsOf(view)) {
    const names = fields.map((field) => field.name);
    for (const [key, values] of Object.entries(config.allow ?? {})) {
      const path = ['outputs', name, 'allow', key];
      const field = fields.find((each) => each.name === key);
      if (field === undefined) {
        const message = `an agent does not fill \`${key}\` of \`${config.deliver}\`${didYouMean(key, names)}`;
        report({ path, at: 'key', message, hint: `it fills ${oneOf(names, 'and')}` });
      } else if (field.kind === 'objects') {
        report({ path, at: 'key', message: `\`${key}\` is a list of objects, which \`allow\` cannot compare` });
      }
      const number = values.findIndex((value) => typeof value !== 'string');
      if (number >= 0) {
        const message = `an agent fills \`${key}\` with texts, and ${JSON.stringify(values[number])} is none`;
        report({ path: [...path, number], at: 'value', message, fix: { kind: 'quote' } });
      }
      const unknown = values.findIndex((value) => field?.values?.includes(String(value)) === false);
      if (unknown < 0) continue;
      const message = `\`${config.deliver}\` takes no \`${key}\` ${JSON.stringify(values[unknown])}`;
      report({ path: [...path, unknown], at: 'value', message, hint: `it takes ${oneOf(field?.values ?? [], 'and')}` });
    }
  }
}
