/** Collects warnings about what would fail later, while a request is explained. */
import { targetLabel } from '../../../../base/label.ts';
import type { LogFields, Logger } from '../../../../runtime/platform/log.ts';
import type { Dispatch } from '../../../../schemas/generated/types.ts';

export class Warnings {
  private readonly earlier: Warnings | null;
  private readonly texts: string[] = [];

  /** @param earlier those that came before, such as of linking the route */
  constructor(earlier: Warnings | null = null) {
    this.earlier = earlier;
  }

  /** Keeps the warnings that the stages log. */
  readonly log: Logger = {
    debug: () => {},
    info: () => {},
    warn: (fields, message) => this.add(message, fields),
    error: (fields, message) => this.add(message, fields),
  };

  deprecated(scheme: string, reason: string | null): void {
    if (reason !== null) this.texts.push(`the signature scheme ${scheme} is deprecated: ${reason}`);
  }

  /** All warnings, with those about the addresses of the dispatch. */
  of(dispatch: Dispatch | null): string[] {
    const addresses = (dispatch?.deliveries ?? []).flatMap(({ extra, unresolved, ...delivery }) =>
      unresolved.map((key) => `deliver_extra.${key} of ${targetLabel(delivery)} does not resolve: ${extra[key] ?? ''}`),
    );
    return [...new Set([...(this.earlier?.texts ?? []), ...this.texts, ...addresses])];
  }

  add(message: string, { file, reason }: LogFields): void {
    const about = [file, reason].filter((text) => typeof text === 'string');
    this.texts.push([message, ...about].join(': '));
  }
}
