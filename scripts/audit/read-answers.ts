/** Reads the JSON output of `npm audit` and `npm audit signatures`, and distinguishes findings from an unavailable registry. */

export interface Audited {
  /** `unknown`: the registry did not answer, or its answer cannot be read. */
  readonly kind: 'fine' | 'found' | 'unknown';
  readonly lines: readonly string[];
}

const SEVERE = new Set(['high', 'critical']);

/** Vulnerabilities of severity high and critical fail; others are only reported. @param only packages to check (default: all) */
export function readAudit(stdout: string, only?: readonly string[]): Audited {
  const answer = parse(stdout);
  const faults = recordOf(answer?.vulnerabilities);
  if (answer === null || faults === null) return unknown(answer);
  const found = Object.entries(faults)
    .filter(([name]) => only === undefined || only.includes(name))
    .map(([name, fault]) => [name, String(recordOf(fault)?.severity)] as const);
  const lines = found.map(([name, severity]) => `${name}: ${severity}`);
  return { kind: found.some(([, severity]) => SEVERE.has(severity)) ? 'found' : 'fine', lines };
}

/** An invalid signature fails. A missing signature is only reported, because not every registry signs. */
export function readSignatures(stdout: string): Audited {
  const answer = parse(stdout);
  const { invalid, missing } = answer ?? {};
  if (!Array.isArray(invalid) || !Array.isArray(missing)) return unknown(answer);
  const name = (one: unknown): string => `${recordOf(one)?.name}@${recordOf(one)?.version}`;
  const lines = [...invalid.map((one) => `${name(one)}: wrong`), ...missing.map((one) => `${name(one)}: none`)];
  return { kind: invalid.length > 0 ? 'found' : 'fine', lines };
}

function unknown(answer: Readonly<Record<string, unknown>> | null): Audited {
  const error = recordOf(answer?.error);
  const why = [error?.code, error?.summary, answer?.message].find((text) => typeof text === 'string' && text !== '');
  return { kind: 'unknown', lines: why === undefined ? [] : [String(why)] };
}

function parse(text: string): Readonly<Record<string, unknown>> | null {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return null;
  }
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
