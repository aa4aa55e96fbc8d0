-- The shop on the morning of 20 May 2026. Every name and address is invented.
INSERT INTO customers VALUES
    ('C-11', 'Maya Brandt', 'maya.brandt@example.org', 'Kanaalweg 12', '3526 KL', 'Utrecht', 'NL'),
    ('C-12', 'Joris Peeters', 'joris@peeters.example', 'Visserij 4', '9000', 'Gent', 'BE'),
    ('C-13', 'Noor Haddad', 'noor.haddad@example.com', 'Morsweg 88', '2332 XA', 'Leiden', 'NL'),
    ('C-14', 'Elena Ricci', 'elena.ricci@example.net', 'Lindenallee 31', '45127', 'Essen', 'DE'),
    ('C-15', 'Sean Gallagher', 'sean.g@example.ie', '7 Abbey Court', 'T12 X8P', 'Cork', 'IE'),
    ('C-16', 'Lotte Weiss', 'lotte@weiss.example', 'Rheinufer 2', '53111', 'Bonn', 'DE'),
    ('C-17', 'Amina Diallo', 'amina.diallo@example.lu', '15 Rue du Moulin', '1420', 'Luxembourg', 'LU'),
    ('C-18', 'Jan Brandt', 'jan.brandt@example.org', 'Havenstraat 9', '1211 KH', 'Hilversum', 'NL'),
    ('C-19', 'Oskar Lund', 'oskar@lund.example', 'Fjordgade 21', '8000', 'Aarhus', 'DK');

INSERT INTO products VALUES
    ('lavender', 'English lavender, 2 litres', 'plant', 9.50, 40),
    ('rosemary', 'Rosemary, 1 litre', 'plant', 7.50, 25),
    ('olive-tree', 'Olive tree, 120 cm', 'plant', 64.00, 3),
    ('fig-tree', 'Fig tree, 90 cm', 'plant', 48.00, 0),
    ('climbing-rose', 'Climbing rose', 'plant', 22.00, 6),
    ('peony', 'Peony, bare root', 'plant', 16.00, 12),
    ('tomato-seed', 'Tomato seed, six kinds', 'seed', 3.20, 200),
    ('meadow-seed', 'Wildflower meadow seed, 100 g', 'seed', 12.80, 60),
    ('secateurs', 'Bypass secateurs', 'tool', 29.00, 15),
    ('spade', 'Border spade', 'tool', 42.00, 8),
    ('watering-can', 'Copper watering can', 'tool', 38.00, 1),
    ('terracotta-pot', 'Terracotta pot, 24 cm', 'pot', 11.00, 30),
    ('stone-trough', 'Stone trough, 60 cm', 'pot', 36.00, 5);

INSERT INTO orders
    (order_id, customer_id, status, placed_on, delivery_fee, street, postcode, city, country)
VALUES
    ('G-1007', 'C-11', 'packed', '2026-05-18', 0, 'Kanaalweg 12', '3526 KL', 'Utrecht', 'NL'),
    ('G-1008', 'C-11', 'delivered', '2026-04-20', 4.50, 'Kanaalweg 12', '3526 KL', 'Utrecht', 'NL'),
    ('G-1009', 'C-18', 'open', '2026-05-19', 4.50, 'Havenstraat 9', '1211 KH', 'Hilversum', 'NL'),
    ('G-1010', 'C-12', 'open', '2026-05-19', 4.50, 'Visserij 4', '9000', 'Gent', 'BE'),
    ('G-1011', 'C-12', 'dispatched', '2026-05-15', 0, 'Visserij 4', '9000', 'Gent', 'BE'),
    ('G-1012', 'C-14', 'delivered', '2026-05-06', 0, 'Lindenallee 31', '45127', 'Essen', 'DE'),
    ('G-1013', 'C-14', 'open', '2026-05-20', 4.50, 'Lindenallee 31', '45127', 'Essen', 'DE'),
    ('G-1014', 'C-15', 'open', '2026-05-18', 9.00, '7 Abbey Court', 'T12 X8P', 'Cork', 'IE'),
    ('G-1015', 'C-15', 'delivered', '2026-03-02', 9.00, '7 Abbey Court', 'T12 X8P', 'Cork', 'IE'),
    ('G-1016', 'C-16', 'delivered', '2026-05-08', 0, 'Rheinufer 2', '53111', 'Bonn', 'DE'),
    ('G-1017', 'C-16', 'open', '2026-05-19', 0, 'Rheinufer 2', '53111', 'Bonn', 'DE'),
    ('G-1018', 'C-17', 'delivered', '2026-05-02', 4.50, '15 Rue du Moulin', '1420', 'Luxembourg', 'LU'),
    ('G-1019', 'C-17', 'cancelled', '2026-05-10', 4.50, '15 Rue du Moulin', '1420', 'Luxembourg', 'LU'),
    ('G-1020', 'C-13', 'open', '2026-05-19', 4.50, 'Morsweg 88', '2332 XA', 'Leiden', 'NL'),
    ('G-1021', 'C-13', 'delivered', '2026-05-09', 0, 'Morsweg 88', '2332 XA', 'Leiden', 'NL'),
    ('G-1022', 'C-19', 'open', '2026-05-17', 9.00, 'Fjordgade 21', '8000', 'Aarhus', 'DK');

INSERT INTO order_lines VALUES
    ('G-1007', 'olive-tree', 1, 64.00),
    ('G-1008', 'lavender', 6, 9.50),
    ('G-1008', 'terracotta-pot', 2, 11.00),
    ('G-1009', 'climbing-rose', 2, 22.00),
    ('G-1010', 'rosemary', 3, 7.50),
    ('G-1010', 'meadow-seed', 1, 12.80),
    ('G-1011', 'spade', 1, 42.00),
    ('G-1011', 'peony', 2, 16.00),
    ('G-1012', 'secateurs', 2, 24.50),
    ('G-1012', 'lavender', 4, 9.50),
    ('G-1013', 'tomato-seed', 5, 3.20),
    ('G-1014', 'watering-can', 1, 38.00),
    ('G-1014', 'terracotta-pot', 3, 11.00),
    ('G-1015', 'spade', 1, 39.00),
    ('G-1016', 'olive-tree', 1, 59.00),
    ('G-1016', 'stone-trough', 1, 36.00),
    ('G-1017', 'climbing-rose', 3, 22.00),
    ('G-1018', 'peony', 3, 16.00),
    ('G-1018', 'secateurs', 1, 29.00),
    ('G-1019', 'rosemary', 2, 7.50),
    ('G-1020', 'lavender', 3, 9.50),
    ('G-1020', 'stone-trough', 1, 36.00),
    ('G-1021', 'fig-tree', 1, 48.00),
    ('G-1021', 'terracotta-pot', 1, 11.00),
    ('G-1022', 'meadow-seed', 4, 12.80);

INSERT INTO parcels VALUES
    ('P-31', 'G-1008', 'Groenpost', 'delivered', '2026-04-24'),
    ('P-32', 'G-1011', 'Groenpost', 'on its way', NULL),
    ('P-33', 'G-1012', 'Laufrad', 'delivered', '2026-05-11'),
    ('P-34', 'G-1015', 'Island Mail', 'delivered', '2026-03-09'),
    ('P-35', 'G-1016', 'Laufrad', 'delivered', '2026-05-12'),
    ('P-36', 'G-1016', 'Laufrad', 'lost', NULL),
    ('P-37', 'G-1018', 'Groenpost', 'delivered', '2026-05-05'),
    ('P-38', 'G-1021', 'Groenpost', 'delivered', '2026-05-13');

INSERT INTO parcel_items (parcel_id, sku, quantity) VALUES
    ('P-31', 'lavender', 6),
    ('P-31', 'terracotta-pot', 2),
    ('P-32', 'spade', 1),
    ('P-32', 'peony', 2),
    ('P-33', 'secateurs', 2),
    ('P-33', 'lavender', 4),
    ('P-34', 'spade', 1),
    ('P-35', 'olive-tree', 1),
    ('P-36', 'stone-trough', 1),
    ('P-37', 'peony', 3),
    ('P-37', 'secateurs', 1),
    ('P-38', 'fig-tree', 1),
    ('P-38', 'terracotta-pot', 1);

-- One of the three peonies of G-1018 has been refunded already.
UPDATE parcel_items SET refunded = 1 WHERE parcel_id = 'P-37' AND sku = 'peony';
UPDATE orders SET refunded = 16.00 WHERE order_id = 'G-1018';

INSERT INTO vouchers VALUES
    ('WREN-80', 'C-13', 'gift', 80.00, 0, '2027-01-31'),
    ('ROBIN-25', 'C-11', 'gift', 25.00, 0, '2026-12-31'),
    ('FINCH-40', 'C-12', 'gift', 12.40, 0, '2026-09-30'),
    ('HERON-50', 'C-14', 'gift', 50.00, 0, '2026-04-30'),
    ('SWIFT-30', 'C-16', 'gift', 30.00, 0, '2026-08-31'),
    ('MAY-10', NULL, 'promotion', 10.00, 50.00, '2026-05-31'),
    ('SPRING-5', NULL, 'promotion', 5.00, 20.00, '2026-06-30'),
    ('FROST-15', NULL, 'promotion', 15.00, 40.00, '2026-02-28');

-- The ten euros of G-1017 came from a promotion.
INSERT INTO voucher_uses VALUES ('G-1017', 'MAY-10', 10.00);

INSERT INTO boxes VALUES
    ('B-3', 'C-11', 'herbs', 14.00, 'active', '2026-06-05'),
    ('B-4', 'C-12', 'seeds', 9.00, 'active', '2026-05-25'),
    ('B-5', 'C-14', 'bulbs', 16.50, 'paused', '2026-08-05'),
    ('B-6', 'C-15', 'seeds', 9.00, 'active', '2026-06-15'),
    ('B-7', 'C-17', 'herbs', 14.00, 'ended', NULL),
    ('B-8', 'C-18', 'bulbs', 16.50, 'active', '2026-06-01');
