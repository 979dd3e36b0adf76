/** Pausing a route or a job: for how long is asked, and shown until it ends. */
import { useEffect, useRef } from 'preact/hooks';
import { instant } from './format.ts';
import { Operator } from './role.tsx';
import { Act, Ask, Choice } from './ui.tsx';

const HOUR_S = 3600;
const TIMES: readonly (readonly [text: string, seconds: number | null])[] = [
  ['1 hour', HOUR_S],
  ['4 hours', 4 * HOUR_S],
  ['1 day', 24 * HOUR_S],
  ['Until it is resumed', null],
];

interface Props {
  readonly name: string;
  readonly what: string;
  readonly isPaused: boolean;
  /** @param seconds null: until it is resumed */
  readonly pause: (seconds: number | null) => Promise<{ readonly until: number | null }>;
  readonly resume: () => Promise<unknown>;
  readonly changed: () => void;
}

export function Pause({ name, what, isPaused, pause, resume, changed }: Props) {
  const end = async (): Promise<string> => {
    await resume();
    changed();
    return `${name} goes on.`;
  };
  const begin = async (seconds: number | null, close: () => void): Promise<string> => {
    const { until } = await pause(seconds);
    close();
    changed();
    return until === null ? `${name} is paused.` : `${name} is paused until ${instant(until)}.`;
  };
  // The button that was pressed has given way to the other one.
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (document.activeElement === document.body) place.current?.querySelector('button')?.focus();
  }, [isPaused]);
  return (
    <span ref={place}>
      <Operator>
        {isPaused ? (
          <Act act={end} label={`Resume ${name}`}>
            Resume
          </Act>
        ) : (
          <Ask text="Pause" label={`Pause ${name}`} title={`Pause ${name}`}>
            {(close) => (
              <>
                <p>{what}</p>
                <Choice close={close}>
                  {TIMES.map(([text, seconds]) => (
                    <Act key={text} act={() => begin(seconds, close)}>
                      {text}
                    </Act>
                  ))}
                </Choice>
              </>
            )}
          </Ask>
        )}
      </Operator>
    </span>
  );
}
