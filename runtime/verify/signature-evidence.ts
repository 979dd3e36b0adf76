/** What is needed to find out why a signature was refused, as data: it crosses to the thread that keeps requests. */
import type { SchemePlan } from '../../schemas/generated/types.ts';
import type { RequestParts } from './request.ts';
import type { SecretText } from './scheme.ts';
import type { Refused } from './verification.ts';

/** What a refused signature is looked into with. */
export interface SignatureEvidence {
  /** What the route accepts. */
  readonly schemes: readonly SchemePlan[];
  /** Every scheme there is. */
  readonly known: readonly SchemePlan[];
  /** The route's secrets, those that have expired too. */
  readonly secrets: readonly SecretText[];
  readonly publicUrl: string | null;
}

export interface RefusedRequest extends SignatureEvidence {
  readonly refused: Refused;
  readonly parts: RequestParts;
  /** Unix ms. */
  readonly now: number;
}
