/** The value of a JSON text; undefined when it is not JSON, whose values never are. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
