/** A message that waits for a person, where nobody is told. */
import { rule } from '../../../../compiler/rules/support/rule.ts';
import type { JobView, Reporter, RouteView } from '../../../../compiler/views/views.ts';

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
