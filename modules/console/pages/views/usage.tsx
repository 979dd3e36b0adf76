/** What runs have used, by day, route, job and agent. */
import { useList } from '../parts/data.ts';
import { Card, Show } from '../parts/ui.tsx';

const WEEK_MS = 7 * 86_400_000;

export function Usage() {
  const since = Math.floor(Date.now() / 3_600_000) * 3_600_000 - WEEK_MS;
  const list = useList('listUsage', { limit: 200, since, span: 'day' }, false);
  return (
    <Card title="Used in the last week">
      <Show of={list}>
        {(items) =>
          items.length === 0 ? (
            <p class="dim">No run has told what it used.</p>
          ) : (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard
            <section class="block" aria-label="Used in the last week, as a table" tabIndex={0}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">Day</th>
                    <th scope="col">Route or job</th>
                    <th scope="col">Runs</th>
                    <th scope="col">Tokens in</th>
                    <th scope="col">Out</th>
                    <th scope="col">Cost</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map(({ slot, profile, route, job, agent, runs, input_tokens, output_tokens, cost }) => (
                    <tr key={`${slot} ${profile} ${route} ${job} ${agent}`}>
                      <td>{new Date(slot).toISOString().slice(0, 10)}</td>
                      <td>
                        {route ?? job} {agent === null ? '' : `(${agent})`}
                      </td>
                      <td>{runs.toLocaleString()}</td>
                      <td>{(input_tokens ?? 0).toLocaleString()}</td>
                      <td>{(output_tokens ?? 0).toLocaleString()}</td>
                      <td>{cost === null ? '' : String(Number(cost.toPrecision(4)))}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          )
        }
      </Show>
    </Card>
  );
}
