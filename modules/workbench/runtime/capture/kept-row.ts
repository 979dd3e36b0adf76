/** Reads a kept request from its row: the number in its id, its head as JSON, and its body. */
import type { KeptHead, KeptRequest, KeptSummary } from '../../../../runtime/intake/kept-request.ts';
import { idOf } from './request-id.ts';

/** Most requests in one list. */
export const LONGEST_PAGE = 1000;

export function requestOf(n: number, head: string, body: Buffer | null): KeptRequest {
  return { id: idOf(n), ...(JSON.parse(head) as KeptHead), body: body === null ? null : body.toString('base64') };
}

export function summaryOf(n: number, head: KeptHead): KeptSummary {
  const { at, profile, route, method, outcome, status, stage, reason, event, delivery_id, verified, body_bytes } = head;
  const id = idOf(n);
  return { id, at, profile, route, method, outcome, status, stage, reason, event, delivery_id, verified, body_bytes };
}
