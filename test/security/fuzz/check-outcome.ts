/** Checks every outcome of a delivery, whatever the target responded. */
import assert from 'node:assert/strict';
import type { DeliveryOutcome } from '../../../runtime/deliver/deliverer.ts';

/** Secrets of the target under test contain the word canary. */
export function checkOutcome(outcome: DeliveryOutcome): void {
  assert.doesNotMatch(JSON.stringify(outcome), /canary/i, 'a credential in an outcome');
  if (outcome.kind === 'ok') {
    assert.ok(outcome.message_id === null || typeof outcome.message_id === 'string');
    return;
  }
  const { reason, retry_after_ms: wait } = outcome;
  assert.ok(typeof reason === 'string' && reason !== '' && reason.length <= 500, `a reason of ${reason.length}`);
  assert.doesNotMatch(reason, /[\0-\x1f\x7f-\x9f\u202a-\u202e]/, 'a control character in a reason');
  assert.ok(wait === null || (Number.isFinite(wait) && wait >= 0), `a wait of ${wait}`);
}
