/** The headers of Standard Webhooks for requests to the operator's own service: id, time and signature, and the trace. */
import { createHmac } from 'node:crypto';
import { WEBHOOK_SECRET, webhookKey } from '../../../base/webhook-key.ts';
import type { Values } from './values.ts';

/** Returns the headers that a request gets besides its own. */
export type WebhookHeaders = (body: string | null, values: Values) => Readonly<Record<string, string>>;

/** Returns what is wrong with the secret, if anything. Without one, nothing is signed. */
export function linkWebhook(settings: ReadonlyMap<string, string>): WebhookHeaders | string {
  const secret = settings.get('secret');
  const key = secret === undefined ? undefined : webhookKey(secret);
  if (key === null) return WEBHOOK_SECRET;
  return (body, { key: id, timestamp, trace }) => {
    const signed = key && createHmac('sha256', key).update(`${id}.${timestamp}.${body ?? ''}`, 'utf8');
    return {
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      ...(signed ? { 'webhook-signature': `v1,${signed.digest('base64')}` } : {}),
      ...trace,
    };
  };
}
