import { useState } from 'preact/hooks';
import { requireData } from '../api-errors.js';
import { dashboardClient } from '../clients.js';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { Radios } from '../ui/radios.js';
import { formatDate } from '../ui/times.js';

/** The maximum lifetime that the server allows. */
const MAX_DAYS = 366;

const TERMS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['60', '60 days'],
  ['90', '90 days'],
  ['custom', 'Custom'],
] as const;

type Term = (typeof TERMS)[number][0];

export function NewToken({ onMade }: { readonly onMade: (token: string) => Promise<void> }) {
  const [label, setLabel] = useState('');
  const [term, setTerm] = useState<Term>('30');
  const [custom, setCustom] = useState('365');
  const [mayWrite, setMayWrite] = useState(false);
  const expiresAt = toExpiry(Number(term === 'custom' ? custom : term));
  const create = async (): Promise<void> => {
    const body = { label, expiresAt, scopes: mayWrite ? ['read' as const, 'write' as const] : ['read' as const] };
    const { token } = requireData(await dashboardClient.POST('/api/tokens', { body }));
    setLabel('');
    await onMade(token);
  };
  return (
    <Form verb="Create token" onSave={create}>
      <Field label="Token name" required maxLength={100} autoComplete="off" value={label} onValue={setLabel} />
      <Radios legend="Expires in" value={term} options={TERMS} onValue={setTerm} />
      {term === 'custom' && (
        <Field
          label="Days until it expires"
          type="number"
          required
          min={1}
          max={MAX_DAYS}
          value={custom}
          onValue={setCustom}
        />
      )}
      <p class="quiet" role="status">
        {expiresAt === '' ? `Enter 1 to ${MAX_DAYS} days.` : `Expires on ${formatDate(expiresAt)}.`}
      </p>
      <label class="choice">
        <input
          type="checkbox"
          checked={mayWrite}
          onChange={({ currentTarget }) => setMayWrite(currentTarget.checked)}
        />
        Allow write access
      </label>
    </Form>
  );
}

/**
 * Returns the expiry of a lifetime, or an empty string if the lifetime is invalid. It is a minute early, as the clocks
 * of browser and server may differ.
 */
function toExpiry(days: number): string {
  if (!Number.isInteger(days) || days < 1 || days > MAX_DAYS) return '';
  return new Date(Date.now() + days * 86_400_000 - 60_000).toISOString();
}
