/** Values of a table as text, with a key for comparison: secrets are compared but never shown. */
import { isPlainMap } from '../../../../compiler/text/plain-map.ts';
import { isSecretRef } from '../../../../runtime/platform/secrets/secret-refs.ts';
import { printSecretRef } from '../../../../runtime/platform/secrets/secrets.ts';

export interface ShownValue {
  /** Equal for values that mean the same. */
  readonly key: string;
  readonly text: string;
}

/** Any JSON value; secret references in it are named, literal ones hidden. */
export function shown(value: unknown, text?: string): ShownValue {
  const readable = text ?? withoutSecrets(value);
  return { key: stableJson(value), text: typeof readable === 'string' ? readable : stableJson(readable) };
}

/** The text does not depend on the order of keys. */
function stableJson(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    isPlainMap(each) ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1))) : each,
  );
}

function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isPlainMap(value)) return value;
  if (isSecretRef(value)) return printSecretRef(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withoutSecrets(each)]));
}
