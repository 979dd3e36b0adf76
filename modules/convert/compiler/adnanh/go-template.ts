/**
 * A hooks file may be a Go template: `{{ getenv "NAME" | js }}`. Calls that produce a single text are kept as text of the
 * same length, so that the file parses and offsets stay valid. Files with other template code have to be rendered first.
 */
import type { SourceText } from '../../../../compiler/text/source-text.ts';
import type { ConversionRefusal } from '../conversion.ts';

const CALL =
  /\{\{-?\s*(getenv|cat|credential)\s+(?:"([^"\n]{1,200})"|`([^`\n]{1,200})`)\s*(?:\|\s*(?:js|html|print)\s*)*-?\}\}/g;
const ACTION = /\{\{-?\s*(?:if|range|with|define|template|block|end|else|\$|\.|\/\*|getenv|cat|credential|print|env)\b/;

/** Replaces the quotes and braces of calls, which would end a string or begin a map. */
export function plainCalls(source: SourceText): SourceText | ConversionRefusal {
  const text = source.text.replace(CALL, (call) => `<<${call.slice(2, -2).replaceAll('"', '`')}>>`);
  const start = text.search(ACTION);
  if (start < 0) return { ...source, text };
  const message = 'this is a Go template, of which only getenv, cat and credential are supported';
  const hint = 'render the file first, with placeholder values for the secrets';
  return { faults: [{ start, message, hint }] };
}

interface TemplateCall {
  readonly name: 'getenv' | 'cat' | 'credential';
  readonly argument: string;
}

/** The call that the text consists of, or null if it is not a call. */
export function callIn(text: string): TemplateCall | null {
  const match = /^<<-?\s*(getenv|cat|credential)\s+`([^`]+)`[^<>]*>>$/.exec(text.trim());
  const [, name, argument] = match ?? [];
  return name === undefined || argument === undefined ? null : { name: name as TemplateCall['name'], argument };
}
