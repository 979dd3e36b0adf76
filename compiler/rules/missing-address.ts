/** A delivery without a chat (§4.4). */
import type { ProfilePlan, TargetBinding } from '../../schemas/generated/types.ts';
import type { DeliveryConfig } from '../config/deliveries.ts';
import { needsChat } from '../config/needs-chat.ts';
import type { TableContent } from '../config/table-content.ts';
import type { Reporter } from '../views/views.ts';
import type { Receiver } from './support/receivers.ts';
import { onFailure, toOperators } from './support/receivers.ts';
import { rule } from './support/rule.ts';
import { deliverPath, deliveryTargets } from './support/targets.ts';

export const missingAddress = rule('missing-address', {
  route(route, report) {
    for (const to of onFailure(route, report)) checkReceiver(to);
    if (route.mode === 'cron' || route.profilePlan === null) return;
    checkChats(route.config, route.profilePlan, route.scope.table, report);
  },
  job(job, report) {
    for (const to of onFailure(job, report)) checkReceiver(to);
    checkChats(job.config, job.profile, job.scope.table, report);
  },
  config(view, report) {
    for (const to of toOperators(view, report)) checkReceiver(to);
  },
});

function checkReceiver({ config, profile, scope, report }: Receiver): void {
  if (profile !== null) checkChats(config, profile, scope.table, report);
}

function checkChats(config: DeliveryConfig, profile: ProfilePlan, table: TableContent, report: Reporter): void {
  for (const { name, index, plan, extra } of deliveryTargets(config, table)) {
    const binding = profile.targets[plan.name];
    if (binding === undefined || hasHome(binding) || extra.has('chat_id')) continue;
    if (!needsChat(plan, binding, extra.has('message_thread_id') || extra.has('thread_id'))) continue;
    const message = `\`${name}\` has no chat to send to: neither \`deliver_extra.chat_id\` nor a home channel is set`;
    const hint = `set \`platforms.${name}.home_channel\`, or \`chat_id\` here`;
    report({ path: deliverPath(index), at: 'value', message, hint });
  }
}

/** Whether a home channel is set, as text or as a reference. */
const hasHome = (binding: TargetBinding): boolean =>
  binding.home_channel !== null || Object.hasOwn(binding.credentials, 'home_channel');
