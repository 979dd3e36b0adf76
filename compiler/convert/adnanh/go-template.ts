/**
 * The hooks file may be a Go template: `{{ getenv "NAME" | js }}`. The calls that stand for one text are kept as text, so
 * that the file parses and every offset stays what it was; anything else has to be rendered first.
 */
import type { SourceText } from '../../text/source-text.ts';
import type { ConversionRefusal } from '../conversion.ts';

const CALL =
  /\{\{-?\s*(getenv|cat|credential)\s+(?:"([^"\n]{1,200})"|`([^`\n]{1,200})`)\s*(?:\|\s*(?:js|html|print)\s*)*-?\}\}/g;
const ACTION = /\{\{-?\s*(?:if|range|with|define|template|block|end|else|\$|\.|\/\*|getenv|cat|credential|print|env)\b/;

/** Calls as plain text: quotes would end a string, and a brace would begin a map where the call has none. */
export function plainCalls(source: SourceText): SourceText | ConversionRefusal {
  const text = source.text.replace(CALL, (call) => `<<${call.slice(2, -2).replaceAll('"', '`')}>>`);
  const start = text.search(ACTION);
  if (start < 0) return { ...source, text };
  const message = 'this is a Go template, of which only getenv, cat and credential are understood';
  const hint = 'render the file first, with values for the secrets that stand for nothing';
  return { faults: [{ start, message, hint }] };
}

export interface TemplateCall {
  readonly name: 'getenv' | 'cat' | 'credential';
  readonly argument: string;
}

/** The call that a text consists of; null: it is a text of its own. */
export function callIn(text: string): TemplateCall | null {
  const match = /^<<-?\s*(getenv|cat|credential)\s+`([^`]+)`[^<>]*>>$/.exec(text.trim());
  const [, name, argument] = match ?? [];
  return name === undefined || argument === undefined ? null : { name: name as TemplateCall['name'], argument };
}
