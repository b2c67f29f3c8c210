import { useState } from 'preact/hooks';
import { Field } from '../ui/field.js';
import { Form } from '../ui/form.js';
import { showToast } from '../ui/toasts.js';
import type { Settings, SettingsRequest } from './settings-request.js';

interface RenovateProps {
  readonly settings: Settings;
  readonly onSave: (part: SettingsRequest) => Promise<void>;
}

/** How the board recognises Renovate, for every forge. */
export function Renovate({ settings, onSave }: RenovateProps) {
  const [label, setLabel] = useState(settings.renovateRebaseLabel);
  const [authors, setAuthors] = useState(settings.renovateAuthors.join(', '));
  const save = async (): Promise<void> => {
    const names = authors.split(',').map((name) => name.trim());
    await onSave({ renovateRebaseLabel: label, renovateAuthors: names.filter((name) => name !== '') });
    showToast('Renovate settings saved.');
  };
  return (
    <fieldset>
      <legend>Renovate</legend>
      <Form verb="Save Renovate" onSave={save}>
        <Field label="Rebase label" maxLength={100} placeholder="rebase" value={label} onValue={setLabel} />
        <Field
          label="Further Renovate accounts"
          hint="Accounts that open its pull requests, in addition to the usual ones: up to 20, separated by commas."
          maxLength={1400}
          autoCapitalize="none"
          spellcheck={false}
          value={authors}
          onValue={setAuthors}
        />
      </Form>
    </fieldset>
  );
}
