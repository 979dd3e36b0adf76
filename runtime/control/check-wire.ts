/** Validates messages of the control socket. Each side checks those of the other, which may be another program. */

interface Fault {
  /** A JSON pointer. */
  readonly instancePath: string;
  readonly params: {
    readonly missingProperty?: string;
    readonly additionalProperty?: string;
    /** Member that selects the shape of the object. */
    readonly tag?: string;
  };
}

interface Check {
  (value: unknown): boolean;
  errors?: readonly Fault[] | null;
}

/** Loads a generated validator. */
export type LoadCheck = () => Promise<Check>;

/** Returns the path, from `root`, of the first member that is missing, unknown or of a wrong type; null if none is. */
export async function findFault(load: LoadCheck, value: unknown, root: string): Promise<string | null> {
  const check = await load();
  const fault = check(value) ? null : (check.errors?.[0] ?? { instancePath: '', params: {} });
  if (fault === null) return null;
  const { missingProperty, additionalProperty, tag } = fault.params;
  const member = missingProperty ?? additionalProperty ?? tag;
  const parts = fault.instancePath.split('/').slice(1);
  return [...parts, ...(member === undefined ? [] : [member])].reduce(
    (path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : `${path}.${part}`),
    root,
  );
}
