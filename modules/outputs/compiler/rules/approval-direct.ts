/** A direct delivery that would wait for a person while its sender waits. */
import { rule } from '../../../../compiler/rules/support/rule.ts';

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
