/** A delivery without a chat (§4.4). */
import type { ProfilePlan, TargetBinding } from '../../schemas/generated/types.ts';
import type { DeliveryConfig } from '../config/deliveries.ts';
import { needsChat } from '../config/needs-chat.ts';
import type { TableContent } from '../config/table-content.ts';
import type { Problem } from '../diagnostics/problem.ts';
import { deliverPath, deliveryTargets } from './support/targets.ts';
import type { ViewRule } from './support/view-rule.ts';

export const missingAddress = {
  id: 'missing-address',
  checkRoute(route): readonly Problem[] {
    if (route.mode === 'cron' || route.profilePlan === null) return [];
    return withoutChat(route.config, route.profilePlan, route.scope.table);
  },
  checkJob(job): readonly Problem[] {
    return withoutChat(job.config, job.profile, job.scope.table);
  },
} as const satisfies ViewRule;

function withoutChat(config: DeliveryConfig, profile: ProfilePlan, table: TableContent): readonly Problem[] {
  return deliveryTargets(config, table)
    .filter(({ plan, extra }) => {
      const binding = profile.targets[plan.name];
      if (binding === undefined || hasHome(binding) || extra.has('chat_id')) return false;
      return needsChat(plan, binding, extra.has('message_thread_id') || extra.has('thread_id'));
    })
    .map(({ name, index }) => ({
      rule: 'missing-address',
      path: deliverPath(index),
      at: 'value',
      message: `\`${name}\` has no chat to send to: neither \`deliver_extra.chat_id\` nor a home channel is set`,
      hint: `set \`platforms.${name}.home_channel\`, or \`chat_id\` here`,
    }));
}

/** Whether a home channel is set, as text or as a reference. */
const hasHome = (binding: TargetBinding): boolean =>
  binding.home_channel !== null || Object.hasOwn(binding.credentials, 'home_channel');
