/** The parts of a target file. */
import type { TargetFile, TargetVariant } from '../../schemas/generated/types.ts';

/** Parts that a target may define once for all its variants. */
export const SHARED_PARTS = [
  'address',
  'base',
  'headers',
  'request',
  'find',
  'update',
  'login',
  'text',
  'key',
  'signature',
  'exchange',
  'check',
  'success',
  'message_id',
  'error_code',
  'outcomes',
  'retry_after',
  'pacing',
  'timeout_seconds',
  'max_response_bytes',
] as const satisfies readonly (keyof TargetVariant & keyof TargetFile)[];
