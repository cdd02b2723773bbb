() => {
  const noText = 'button checkbox color file hidden image radio range reset submit'.split(' ');
  let element = document.activeElement ?? document.documentElement;
  while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
  const kind = () => {
    const name = element.localName;
    if (name === 'iframe' || name === 'frame') return 'frame';
    if (name === 'input' || name === 'textarea')
      return element.disabled || element.readOnly || noText.includes(element.type) ? 'none' : 'field';
    if (element.isContentEditable || element.editContext || document.designMode === 'on') return 'field';
    if (/^(textbox|searchbox|combobox|spinbutton)$/.test(element.getAttribute('role')))
      return element.getAttribute('aria-readonly') === 'true' || name === 'select' ? 'none' : 'field';
    // What is in a closed shadow tree shows to nobody.
    const isClosed = name.includes('-') && !element.shadowRoot && !element.childNodes.length;
    if (isClosed || name === 'embed' || name === 'object') return 'field';
    return 'none';
  };
  return { element, kind: kind() };
}
