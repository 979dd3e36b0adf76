/** The parts of a target file. */
import type { TargetFile, TargetVariant } from '../../schemas/generated/types.ts';

type SharedPart = keyof TargetVariant & keyof TargetFile;

/** Those that say of the service and of access to it, whatever is posted. */
export const SERVICE_PARTS = [
  'base',
  'headers',
  'check',
  'login',
  'error_code',
  'outcomes',
  'retry_after',
  'pacing',
  'timeout_seconds',
  'max_response_bytes',
] as const satisfies readonly SharedPart[];

/** Parts that a target may define once for all its variants. */
export const SHARED_PARTS = [
  ...SERVICE_PARTS,
  ...([
    'address',
    'request',
    'find',
    'update',
    'text',
    'key',
    'signature',
    'exchange',
    'success',
    'message_id',
  ] as const),
] as const satisfies readonly SharedPart[];
