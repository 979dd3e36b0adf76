/** The usual name of the scheme of a kept request, which is stored with its canonical name. */
import type { CliContext } from '../../../../cli/base/context.ts';

/** @param scheme canonical name; a scheme of the user has only this name */
export async function knownScheme(context: CliContext, scheme: string): Promise<string> {
  const [{ sources }, { commonName }] = await Promise.all([
    context.catalog(),
    // Loaded only here: it is the compiler's.
    import('../../../../compiler/text/common-name.ts'),
  ]);
  return commonName(scheme, sources[scheme] ?? {});
}
