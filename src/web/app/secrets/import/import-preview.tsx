import '../../style/cards.css';
import { TableHead } from '../../ui/headings.js';
import { formatDate } from '../../ui/times.js';
import { describePlan, type PlannedEntry, STATE_NAMES } from './import-plan.js';

/** The result of saving one variable: an error message, or an empty text. */
export type ImportResults = ReadonlyMap<string, string>;

interface PreviewProps {
  readonly plan: readonly PlannedEntry[];
  readonly ignoredLines: readonly number[];
  /** The variables to save. */
  readonly chosen: ReadonlySet<string>;
  readonly onChosen: (chosen: ReadonlySet<string>) => void;
  readonly results: ImportResults;
}

/** The variables of a file with their state, of which the user selects those to save. Values are not shown. */
export function ImportPreview({ plan, ignoredLines, chosen, onChosen, results }: PreviewProps) {
  const toggle = (variable: string): void => {
    const next = new Set(chosen);
    if (!next.delete(variable)) next.add(variable);
    onChosen(next);
  };
  return (
    <section aria-labelledby="import-preview">
      <h2 id="import-preview">Preview</h2>
      <p role="status" class={plan.length === 0 ? 'empty' : undefined}>
        {describePlan(plan)}
      </p>
      {ignoredLines.length > 0 && (
        <p class="problem">
          {ignoredLines.length === 1 ? 'This line sets' : 'These lines set'} no variable: {describeLines(ignoredLines)}.
        </p>
      )}
      {plan.length > 0 && (
        <table class="cards import" aria-label="Variables">
          <TableHead names={['Secret', 'State', 'Value']} />
          <tbody>
            {plan.map((entry) => (
              <tr key={entry.variable}>
                <td data-name="Secret">
                  <label class="choice">
                    <input
                      type="checkbox"
                      aria-label={`Save ${entry.slug}`}
                      disabled={entry.state === 'invalid' || results.get(entry.variable) === ''}
                      checked={chosen.has(entry.variable)}
                      onChange={() => toggle(entry.variable)}
                    />
                    <span>
                      <strong>{entry.slug}</strong>
                      {entry.slug !== entry.variable && <span class="quiet"> from {entry.variable}</span>}
                    </span>
                  </label>
                </td>
                <td data-name="State">
                  <State entry={entry} result={results.get(entry.variable)} />
                </td>
                <td data-name="Value">{describeValue(entry)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

const describeValue = ({ value }: PlannedEntry): string =>
  value.length === 1 ? '1 character' : `${value.length} characters`;

const SHOWN_LINES = 10;

const describeLines = (lines: readonly number[]): string =>
  lines.slice(0, SHOWN_LINES).join(', ') + (lines.length > SHOWN_LINES ? ' …' : '');

function State({ entry, result }: { readonly entry: PlannedEntry; readonly result: string | undefined }) {
  const { state, problem, object } = entry;
  if (result === '') {
    return (
      <span>
        <span class="chip good">saved</span>
      </span>
    );
  }
  if (result !== undefined) return <span class="bad">{result}</span>;
  return (
    <span>
      <span class={`chip ${CHIPS[state]}`}>{STATE_NAMES[state]}</span>
      {problem !== undefined && <span class="bad">{problem}</span>}
      {object?.updated_at !== undefined && <span class="quiet">set {formatDate(object.updated_at)}</span>}
    </span>
  );
}

const CHIPS: Readonly<Record<PlannedEntry['state'], string>> = {
  new: 'new',
  changed: 'bad',
  exists: 'wait',
  unchanged: '',
  invalid: 'bad',
};
