/** Rules about outputs and approvals. */

import { contentOf } from '../../../../base/names.ts';
import { targetNamed } from '../../../../compiler/config/route-keys.ts';
import { rule } from '../../../../compiler/rules/support/rule.ts';
import { didYouMean, oneOf } from '../../../../compiler/text/suggest.ts';
import type { JobView, Reporter, RouteView } from '../../../../compiler/views/views.ts';
import type { ContentField, OutputConfig } from '../../../../schemas/generated/types.ts';

/** A direct delivery that would wait for a person while its sender waits. */
export const approvalDirect = rule('approval-direct', {
  route({ mode, config }, report) {
    if (mode !== 'direct' || config.approve !== true) return;
    const message =
      'the sender of a `deliver_only` route waits for the result, and a person takes longer to approve it';
    const hint =
      'replace `deliver_only: true` by `agent: none`: the message is stored, and its sender answered at once';
    report({ path: ['approve'], at: 'key', message, hint });
  },
});

/** A message that waits for a person, where nobody is told. */
export const approvalUnheard = rule('approval-unheard', { route: check, job: check });

function check({ config, scope, ...view }: RouteView | JobView, report: Reporter): void {
  if (scope.table.gateway.approvals !== undefined || ('mode' in view && view.mode === 'cron')) return;
  const outputs = Object.entries(config.outputs ?? {}).filter(([, { approve }]) => approve === true);
  const paths = [
    ...(config.approve === true ? [['approve']] : []),
    ...outputs.map(([name]) => ['outputs', name, 'approve']),
  ];
  for (const path of paths) {
    const message = 'nobody is told that the message waits, and it expires after a day';
    const hint = 'say who is asked: `gateway.approvals: { deliver: … }`';
    report({ path, at: 'key', message, hint });
  }
}

/** `allow` names a field that agents do not fill, or a value that its target does not take. */
export const outputField = rule('output-field', { route: checkAllowed, job: checkAllowed });

function checkAllowed(view: RouteView | JobView, report: Reporter): void {
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

/** A run may hand over so many free texts. */
const MOST = 5;

/** A list, such as labels, that neither its target nor the route limits. */
const isOpen = ({ name, kind, values }: ContentField, { allow, ...config }: OutputConfig): boolean =>
  kind === 'list' && values === undefined && allow?.[name] === undefined && !Object.hasOwn(config, name);

/** An output that nothing limits, of an agent that reads text of strangers. */
export const unboundedOutput = rule('unbounded-output', {
  route(route, report) {
    if (route.config.outputs === undefined || route.scope.payloads?.readsStrangers(route) !== true) return;
    for (const { name, config, fields } of outputsOf(route)) {
      const { allow, max = 1, approve } = config;
      const open = fields.find((field) => isOpen(field, config));
      if (open !== undefined && approve !== true) {
        const message = `a stranger who steers the agent can have it choose any \`${open.name}\` with \`${config.deliver}\``;
        const hint = `list those that are allowed, \`allow: { ${open.name}: […] }\`, or have a person look at each: \`approve: true\``;
        report({ path: ['outputs', name, 'deliver'], at: 'value', message, hint });
      }
      if (max <= MOST || allow !== undefined || approve === true) continue;
      const message = `a stranger who steers the agent can have it post ${max} messages of any text to \`${config.deliver}\``;
      const hint = `lower \`max\` to ${MOST} or less, list what is allowed (\`allow\`), or have a person look at each: \`approve: true\``;
      report({ path: ['outputs', name, 'max'], at: 'value', message, hint });
    }
  },
});

/** The outputs of a route or job whose target is known, with the fields of that target. */
export interface KnownOutput {
  readonly name: string;
  readonly config: OutputConfig;
  readonly fields: readonly ContentField[];
}

export function outputsOf({ config, scope }: Pick<RouteView | JobView, 'config' | 'scope'>): readonly KnownOutput[] {
  const { targets, target_names } = scope.table;
  return Object.entries(config.outputs ?? {}).flatMap(([name, output]): KnownOutput[] => {
    const plan = targets[targetNamed(target_names, output.deliver) ?? ''];
    return plan === undefined
      ? []
      : [{ name, config: output, fields: contentOf<ContentField>(plan) as ContentField[] }];
  });
}
