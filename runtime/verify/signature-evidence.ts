/** What the search for the cause of a refused signature needs, as plain data: it is sent to the thread that keeps requests. */
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { RequestParts } from './request.ts';
import type { SecretText } from './scheme.ts';
import type { Refused } from './verification.ts';

/** What the route knows about its senders. */
export interface SignatureEvidence {
  /** The schemes that the route accepts. */
  readonly schemes: readonly SchemePlan[];
  /** All schemes of the table. */
  readonly known: readonly SchemePlan[];
  /** The route's secrets, including expired ones. */
  readonly secrets: readonly SecretText[];
  readonly publicUrl: string | null;
}

export interface RefusedRequest extends SignatureEvidence {
  readonly refused: Refused;
  readonly parts: RequestParts;
  /** Unix ms. */
  readonly now: number;
}
