/** A delivery without a chat (§4.4). */
import type { TargetBinding } from '../../schemas/generated/types.ts';
import { needsChat } from '../config/needs-chat.ts';
import type { Receiver } from './support/receivers.ts';
import { deliveryRule } from './support/receivers.ts';
import { deliverPath, deliveryTargets } from './support/targets.ts';

export const missingAddress = deliveryRule('missing-address', checkChats);

function checkChats({ config, profile, scope, report }: Receiver): void {
  for (const { name, index, plan, extra } of deliveryTargets(config, scope.table)) {
    const binding = profile?.targets[plan.name];
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
