import '../style/cards.css';
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { EnvFile } from '../../../sealing/env-file.js';
import { describeProblem, type Problem } from '../api.js';
import { ActionButton } from '../ui/buttons.js';
import { Field, FormError, Radios } from '../ui/form.js';
import { TableHead } from '../ui/headings.js';
import { AsyncContent, useResource } from '../ui/resource.js';
import { formatDate } from '../ui/times.js';
import { showToast } from '../ui/toasts.js';
import { useFirstKey } from './identity/create-key.js';
import { useIdentityPrompt, useUnlockedIdentity } from './identity/unlock.js';
import { describePlan, MAX_VARIABLES, type Naming, planImport, type PlannedEntry, STATE_NAMES } from './import-plan.js';
import { type ObjectMetadata, splitTags, TAGS_PATTERN } from './metadata.js';
import { SecretsLayout } from './secrets-layout.js';
import { findOwnPublicKey, listAllSecrets, toSealingProblem, useSealingError, waitForRateLimit } from './secrets.js';
import { loadStoredValues } from './signatures/load-stored-values.js';
import { ReaderPicker, ValueField } from './value-fields.js';

/** Larger files are rejected without reading them. */
const MAX_FILE_BYTES = 2 ** 20;

const EMPTY: EnvFile = { entries: [], ignoredLines: [], cutVariables: [] };

/** Imports the variables of a `.env` file. Values are sealed in this browser, after the user has checked a preview. */
export function ImportPage() {
  const objects = useResource(listAllSecrets);
  return (
    <SecretsLayout title="Import a .env file">
      <p class="quiet">
        Values are encrypted in this browser before they are sent. Nothing is sent before you save. On a server, use{' '}
        <code>trellis secrets import</code>.
      </p>
      <AsyncContent from={objects}>{(list) => <ImportForm objects={list} onChange={objects.reload} />}</AsyncContent>
    </SecretsLayout>
  );
}

interface ImportFormProps {
  readonly objects: readonly ObjectMetadata[];
  readonly onChange: () => Promise<void>;
}

function ImportForm({ objects, onChange }: ImportFormProps) {
  const [text, setText] = useState('');
  // Once there was something to save, the button keeps its place and the focus.
  const [isUsed, setUsed] = useState(false);
  const [fileProblem, setFileProblem] = useState<Problem>();
  const [naming, setNaming] = useState<Naming>('as-is');
  const [tags, setTags] = useState('');
  const [usedBy, setUsedBy] = useState<readonly string[]>([]);
  const [chosenReadable, setReadable] = useState<boolean>();
  const isReadable = chosenReadable ?? usedBy.length === 0;
  const [unchosen, setUnchosen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [compared, setCompared] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [results, setResults] = useState<ImportResults>(new Map());
  const { file, problem: parseProblem } = useEnvFile(text);
  const plan = useMemo(
    () => planImport(file, { naming, usedBy, objects }).map((entry) => applyComparison(entry, compared)),
    [file, naming, usedBy, objects, compared],
  );
  const chosen = new Set(
    plan
      .filter((entry) => isSelectable(entry, results) && (unchosen.get(entry.variable) ?? isDefault(entry)))
      .map(({ variable }) => variable),
  );
  const { ensureKey, steps } = useFirstKey();
  const unlocked = useUnlockedIdentity();
  const { withIdentity, prompt } = useIdentityPrompt(unlocked);
  const change = (next: string): void => {
    if (next !== '') setUsed(true);
    setText(next);
    setCompared(new Map());
    setResults(new Map());
  };
  const read = async (source: File | undefined): Promise<void> => {
    if (source === undefined) return;
    const text = source.size > MAX_FILE_BYTES ? undefined : decodeText(await source.arrayBuffer());
    const message =
      source.size > MAX_FILE_BYTES
        ? `Files can be at most 1 MiB; “${source.name}” is larger.`
        : `“${source.name}” is not UTF-8 text; convert it first.`;
    setFileProblem(text === undefined ? { message } : undefined);
    if (text !== undefined) change(text);
  };
  const [compareProblem, compare] = useSealingError(() =>
    withIdentity({
      why: 'Unlock your key to compare the values.',
      work: async (identity) => {
        const { openValue } = await loadStoredValues();
        const found = new Map<string, boolean>();
        for (const { variable, value, object } of plan) {
          if (object === undefined) continue;
          const stored = await openValue(object, identity).catch(() => undefined);
          if (stored !== undefined) found.set(variable, new TextDecoder().decode(stored) === value);
        }
        setCompared(found);
      },
    }),
  );
  const [problem, save] = useSealingError(async () => {
    if (chosen.size === 0) throw new Error('Select at least one variable.');
    if (isReadable && !(await ensureKey())) return;
    const own = await findOwnPublicKey();
    const outcome = new Map(results);
    for (const entry of plan.filter(({ variable }) => chosen.has(variable))) {
      const store = () => storeEntry(entry, { usedBy, isReadable, own, tags: splitTags(tags) });
      const error = await waitForRateLimit(store).then(
        () => '',
        (error: unknown) => describeProblem(toSealingProblem(error)),
      );
      outcome.set(entry.variable, error);
      setResults(new Map(outcome));
    }
    const saved = [...outcome.values()].filter((error) => error === '').length;
    const failed = outcome.size - saved;
    if (failed > 0) {
      // Others may have changed or created some of these secrets.
      await onChange();
      throw new Error(`${failed} of ${outcome.size} could not be saved. The reasons are in the table.`);
    }
    // The plain values are no longer needed.
    change('');
    await onChange();
    showToast(saved === 1 ? '1 secret saved.' : `${saved} secrets saved.`);
  });
  const hasExisting = plan.some(({ state }) => state === 'exists');
  return (
    <>
      {steps}
      <div hidden={steps !== undefined} class="import-form">
        <form
          onSubmit={(event) => event.preventDefault()}
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            void read(event.dataTransfer?.files[0]);
          }}
        >
          <ValueField label="Variables" value={text} onValue={change} rows={6} />
          <div class="field">
            <label>
              Or read them from a file
              <input type="file" onChange={({ currentTarget }) => void read(currentTarget.files?.[0])} />
            </label>
            <FormError problem={fileProblem ?? parseProblem} />
          </div>
          <Radios legend="Names" value={naming} options={NAME_OPTIONS} onValue={setNaming} />
          <ReaderPicker {...{ usedBy, isReadable }} onUsedBy={setUsedBy} onReadable={setReadable} canCreate />
          <Field label="Tags" hint="Separated by commas." pattern={TAGS_PATTERN} value={tags} onValue={setTags} />
        </form>
        <div>
          <ImportPreview
            plan={plan}
            file={file}
            chosen={chosen}
            results={results}
            onChosen={(next) => setUnchosen(new Map(plan.map(({ variable }) => [variable, next.has(variable)])))}
          />
          {prompt}
          <FormError problem={problem ?? compareProblem} />
          <div class="acts" hidden={!isUsed}>
            <ActionButton class="main" aria-disabled={chosen.size === 0} onAct={save}>
              {chosen.size === 1 ? 'Save 1 secret' : `Save ${chosen.size} secrets`}
            </ActionButton>
            {hasExisting && <ActionButton onAct={compare}>Compare with stored values</ActionButton>}
          </div>
          {hasExisting && (
            <p class="quiet">
              Existing secrets are replaced only if you select them. The server can’t compare values; this browser can,
              with your key. The reads are in the audit log.
            </p>
          )}
        </div>
      </div>
    </>
  );
}

const NAME_OPTIONS = [
  ['as-is', 'Keep names such as DB_PASSWORD'],
  ['kebab', 'Change them to db-password'],
] as const;

const isSelectable = ({ state, variable }: PlannedEntry, results: ImportResults): boolean =>
  state !== 'invalid' && results.get(variable) !== '';

const isDefault = ({ state }: PlannedEntry): boolean => state === 'new' || state === 'changed';

function applyComparison(entry: PlannedEntry, compared: ReadonlyMap<string, boolean>): PlannedEntry {
  const isEqual = compared.get(entry.variable);
  if (entry.state !== 'exists' || isEqual === undefined) return entry;
  return { ...entry, state: isEqual ? 'unchanged' : 'changed' };
}

interface ParsedFile {
  readonly file: EnvFile;
  readonly problem?: Problem;
}

/** Returns `undefined` for other encodings, whose characters would be lost. */
function decodeText(bytes: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Parses the text with the parser of the command line, which is loaded when it is needed. */
function useEnvFile(text: string): ParsedFile {
  const [parsed, setParsed] = useState<ParsedFile>({ file: EMPTY });
  useEffect(() => {
    let isLatest = true;
    const settle = (next: ParsedFile): void => {
      if (isLatest) setParsed(next);
    };
    if (text.trim() === '') settle({ file: EMPTY });
    else {
      import('../../../sealing/env-file.js').then(
        ({ parseEnvFile }) => {
          const file = parseEnvFile(text);
          const isTooLong = file.entries.length > MAX_VARIABLES;
          settle(
            isTooLong
              ? { file: EMPTY, problem: { message: `Expected at most ${MAX_VARIABLES} variables at once.` } }
              : { file },
          );
        },
        (error: unknown) => settle({ file: EMPTY, problem: toSealingProblem(error) }),
      );
    }
    return () => {
      isLatest = false;
    };
  }, [text]);
  return parsed;
}

interface StoreOptions {
  readonly usedBy: readonly string[];
  readonly isReadable: boolean;
  /** The owner's public key. */
  readonly own: string | undefined;
  readonly tags: readonly string[];
}

/** Seals and stores one variable. An existing secret keeps its consumers and tags, unless others are chosen. */
async function storeEntry({ slug, value, object }: PlannedEntry, options: StoreOptions): Promise<void> {
  const { usedBy, isReadable, own, tags } = options;
  const { storeReplacement, storeSecret } = await loadStoredValues();
  if (object === undefined) return storeSecret({ slug, value, usedBy, keepReadableCopy: isReadable, tags });
  const wasReadable = own !== undefined && object.recipients?.includes(own) === true;
  await storeReplacement(object, {
    value,
    ...(usedBy.length > 0 && { usedBy }),
    ...(tags.length > 0 && { tags }),
    keepReadableCopy: isReadable || wasReadable,
  });
}

/** The result of saving one variable: an error message, or an empty text. */
type ImportResults = ReadonlyMap<string, string>;

interface PreviewProps {
  readonly plan: readonly PlannedEntry[];
  readonly file: EnvFile;
  /** The variables to save. */
  readonly chosen: ReadonlySet<string>;
  readonly onChosen: (chosen: ReadonlySet<string>) => void;
  readonly results: ImportResults;
}

/** The variables of a file with their state, of which the user selects those to save. Values are not shown. */
function ImportPreview({ plan, file: { ignoredLines, cutVariables }, chosen, onChosen, results }: PreviewProps) {
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
          {ignoredLines.length === 1 ? 'This line sets' : 'These lines set'} no variable: {describeList(ignoredLines)}.
        </p>
      )}
      {cutVariables.length > 0 && (
        <p class="problem">
          Without quotes, a # ends the value of {describeList(cutVariables)}. If it belongs to the value, add quotes.
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

const SHOWN_ITEMS = 10;

const describeList = (items: readonly (number | string)[]): string =>
  items.slice(0, SHOWN_ITEMS).join(', ') + (items.length > SHOWN_ITEMS ? ' …' : '');

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
