import { useState } from 'preact/hooks';
import { requireAnswer } from '../answers.js';
import { dashboard } from '../clients.js';
import { Field } from '../shell/field.js';
import { Form } from '../shell/form.js';
import { Radios } from '../shell/radios.js';
import { toDay } from '../shell/times.js';

/** As long as a server's token may hold. */
const MOST_DAYS = 366;

const TERMS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['60', '60 days'],
  ['90', '90 days'],
  ['custom', 'Another term'],
] as const;

type Term = (typeof TERMS)[number][0];

export function NewToken({ onMade }: { readonly onMade: (token: string) => Promise<void> }) {
  const [label, setLabel] = useState('');
  const [term, setTerm] = useState<Term>('30');
  const [custom, setCustom] = useState('365');
  const [mayWrite, setMayWrite] = useState(false);
  const expiresAt = endOf(Number(term === 'custom' ? custom : term));
  const create = async (): Promise<void> => {
    const body = { label, expiresAt, scopes: mayWrite ? ['read' as const, 'write' as const] : ['read' as const] };
    const { token } = requireAnswer(await dashboard.POST('/api/tokens', { body }));
    setLabel('');
    await onMade(token);
  };
  return (
    <Form verb="Make a token" onSave={create}>
      <Field
        label="What the token is for"
        required
        maxLength={100}
        autoComplete="off"
        value={label}
        onValue={setLabel}
      />
      <Radios legend="It holds for" value={term} options={TERMS} onValue={setTerm} />
      {term === 'custom' && (
        <Field
          label="For how many days"
          type="number"
          required
          min={1}
          max={MOST_DAYS}
          value={custom}
          onValue={setCustom}
        />
      )}
      <p class="quiet" role="status">
        {expiresAt === '' ? `From 1 to ${MOST_DAYS} days.` : `Until ${toDay(expiresAt)}.`}
      </p>
      <label class="choice">
        <input
          type="checkbox"
          checked={mayWrite}
          onChange={({ currentTarget }) => setMayWrite(currentTarget.checked)}
        />
        It may change things too
      </label>
    </Form>
  );
}

/** A minute less, as this clock and the server's may differ; empty for what is no term. */
function endOf(days: number): string {
  if (!Number.isInteger(days) || days < 1 || days > MOST_DAYS) return '';
  return new Date(Date.now() + days * 86_400_000 - 60_000).toISOString();
}
