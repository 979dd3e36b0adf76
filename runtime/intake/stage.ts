/** The names of the stages, in the order of `pipeline.ts`, as used in reasons, `explain` and kept requests. */
export const STAGE_NAMES = [
  'method',
  'open',
  'origin',
  'rate_check',
  'probe',
  'size',
  'credential',
  'body',
  'handshake',
  'signature',
  'challenge',
  'rate_consume',
  'parse',
  'identify',
  'event',
  'filter',
  'age',
  'loop',
  'duplicate',
  'script',
  'render',
  'dispatch',
] as const;

export type StageName = (typeof STAGE_NAMES)[number];
