/** Rules for alerts. */

import { rule } from '../../../../compiler/rules/support/rule.ts';

/** Targets that cannot fail. */
const CERTAIN = ['log', 'local'];

/** All alerts depend on one target, which may be the one that fails. */
export const loneAlertTarget = rule('lone-alert-target', {
  config({ config, scope }, report) {
    const [target, ...others] = new Set(scope.table.gateway.alerts?.deliver.map((each) => each.target));
    if (config.gateway?.alerts === undefined || target === undefined) return;
    if (others.length > 0 || CERTAIN.includes(target)) return;
    const message = `all alerts go to \`${target}\`: while it fails, they wait, and after a day they are lost`;
    const hint = 'add a target of another service: `deliver: [first, second]`';
    report({ path: ['gateway', 'alerts', 'deliver'], at: 'value', message, hint, severity: 'hint' });
  },
});
