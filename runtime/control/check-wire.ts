/** Checks what goes over the control socket: each side checks what the other, or another program, has sent. */

interface Fault {
  /** A JSON pointer. */
  readonly instancePath: string;
  readonly params: {
    readonly missingProperty?: string;
    readonly additionalProperty?: string;
    /** Of an object that says by this member which shape it has. */
    readonly tag?: string;
  };
}

interface Check {
  (value: unknown): boolean;
  errors?: readonly Fault[] | null;
}

/** Loads a generated validator. */
export type LoadCheck = () => Promise<Check>;

/** The path of the first member that is missing, unknown or of another type, from `root`; null when there is none. */
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
